package extract

import (
	"fmt"

	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Field numbers of objects in the format (osmformat.proto).
const (
	denseIDs, denseInfo, denseLats, denseLons, denseTags = 1, 5, 8, 9, 10
	objectID, objectKeys, objectValues, objectInfo       = 1, 2, 3, 4
	nodeLat, nodeLon                                     = 8, 9
	wayRefs, wayLats, wayLons                            = 8, 9, 10
	memberRoles, memberIDs, memberTypes                  = 8, 9, 10
	infoVersion, infoUser, infoLast                      = 1, 5, 6
)

// The lists of each message.
const (
	objectLists    = 1<<objectKeys | 1<<objectValues | 1<<objectInfo
	denseLists     = 1<<denseIDs | 1<<denseInfo | 1<<denseLats | 1<<denseLons | 1<<denseTags
	wayLists       = objectLists | 1<<wayRefs | 1<<wayLats | 1<<wayLons
	relationLists  = objectLists | 1<<memberRoles | 1<<memberIDs | 1<<memberTypes
	denseInfoLists = 1<<(infoLast+1) - 1<<infoVersion
)

// The limits of an object. OpenStreetMap has at most 2,000 nodes to a way and 32,000 members to a relation.
const (
	maxRefs    = 1 << 16
	maxMembers = 1 << 17
	maxAllTags = 1 << 14
)

// dense goes through nodes whose properties stand in one list each, most of them as the difference to the node before.
func (d *blockDecoder) dense(msg []byte) error {
	var f, info parts
	if err := f.read(msg, denseLists); err != nil {
		return err
	}
	if err := info.read(message(f.lists[denseInfo]), denseInfoLists); err != nil {
		return err
	}
	n, err := f.lists[denseIDs].count()
	if err != nil {
		return err
	}
	for _, l := range info.lists[infoVersion : infoLast+1] {
		if l == nil {
			continue
		}
		if m, err := l.count(); err != nil || m != n {
			return errMalformed
		}
	}
	if err := d.users(info.lists[infoUser]); err != nil {
		return err
	}
	ids, lats, lons := f.lists[denseIDs], f.lists[denseLats], f.lists[denseLons]
	tags, versions := f.lists[denseTags], info.lists[infoVersion]
	tagged := len(tags) > 0
	d.object.reset(mapdata.KindNode)
	o := &d.object
	var lat, lon int64
	for range n {
		id, ok := ids.nextSigned()
		north, okLat := lats.nextSigned()
		east, okLon := lons.nextSigned()
		if !ok || !okLat || !okLon {
			return errMalformed
		}
		o.id, lat, lon = o.id+id, lat+north, lon+east
		if tagged {
			if err := d.denseTags(&tags); err != nil {
				return err
			}
		}
		if versions != nil {
			version, ok := versions.next()
			if !ok {
				return errMalformed
			}
			o.version = int32(version)
		}
		if !d.locate(lat, lon) {
			continue
		}
		if err := d.visit(o); err != nil {
			return err
		}
	}
	if len(lats)+len(lons)+len(tags) > 0 {
		return errMalformed
	}
	return nil
}

// users checks who changed nodes last: indexes of their names, each as the difference to the one before.
func (d *blockDecoder) users(users list) error {
	for user := int32(0); len(users) > 0; {
		delta, ok := users.nextSigned()
		// In 32 bits, as other programs add them up.
		if user += int32(delta); !ok || user < 0 {
			return errMalformed
		}
		if err := d.checkString(uint64(user)); err != nil {
			return err
		}
	}
	return nil
}

// denseTags takes the tags of the next one of dense nodes: pairs of indexes, and a 0 behind them.
func (d *blockDecoder) denseTags(l *list) error {
	d.object.tags = d.object.tags[:0]
	for {
		key, ok := l.next()
		if !ok {
			return errMalformed
		}
		if key == 0 {
			break
		}
		value, ok := l.next()
		if !ok {
			return errMalformed
		}
		if err := d.addTag(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (d *blockDecoder) addTag(key, value uint64) error {
	if len(d.object.tags) == maxAllTags {
		return fmt.Errorf("an object of more than %d tags", maxAllTags)
	}
	if err := d.checkString(key); err != nil {
		return err
	}
	if err := d.checkString(value); err != nil {
		return err
	}
	d.object.tags = append(d.object.tags, osm.Tag{Key: d.strings[key], Value: d.strings[value]})
	return nil
}

// node hands over a node that is a message of its own.
func (d *blockDecoder) node(msg []byte) error {
	var f parts
	if err := f.read(msg, objectLists); err != nil {
		return err
	}
	if err := d.begin(mapdata.KindNode, &f); err != nil {
		return err
	}
	d.object.id = zigZag(f.numbers[objectID])
	if !d.locate(zigZag(f.numbers[nodeLat]), zigZag(f.numbers[nodeLon])) {
		return nil
	}
	return d.visit(&d.object)
}

// begin takes what all objects have: id, tags and version.
func (d *blockDecoder) begin(kind mapdata.Kind, f *parts) error {
	d.object.reset(kind)
	d.object.id = int64(f.numbers[objectID])
	values := f.lists[objectValues]
	for keys := f.lists[objectKeys]; len(keys) > 0; {
		key, okKey := keys.next()
		value, okValue := values.next()
		if !okKey || !okValue {
			return errMalformed
		}
		if err := d.addTag(key, value); err != nil {
			return err
		}
	}
	if len(values) > 0 {
		return errMalformed
	}
	for info := message(f.lists[objectInfo]); len(info) > 0; {
		num, v, b, err := info.next()
		if err != nil || b != nil {
			return errMalformed
		}
		switch num {
		case infoVersion:
			d.object.version = int32(v)
		case infoUser:
			if err := d.checkString(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// way hands over a way. One whose kind is not wanted is read for where its nodes are, if it tells.
func (d *blockDecoder) way(msg []byte) error {
	var f parts
	if err := f.read(msg, wayLists); err != nil {
		return err
	}
	if len(f.lists[wayLats]) > 0 {
		d.found |= located
	} else if d.want&ways == 0 {
		return nil
	}
	if err := d.begin(mapdata.KindWay, &f); err != nil {
		return err
	}
	if l := f.lists[wayRefs]; len(l) > maxRefs {
		if n, err := l.count(); err != nil || n > maxRefs {
			return fmt.Errorf("a way of %d nodes, where OpenStreetMap has 2,000 at most", n)
		}
	}
	id := int64(0)
	for refs := f.lists[wayRefs]; len(refs) > 0; {
		delta, ok := refs.nextSigned()
		if !ok {
			return errMalformed
		}
		id += delta
		d.object.refs = append(d.object.refs, id)
	}
	if err := d.places(f.lists[wayLats], f.lists[wayLons]); err != nil {
		return err
	}
	return d.visit(&d.object)
}

// places reads where the nodes of a way are: nowhere at all, or one position for each.
func (d *blockDecoder) places(lats, lons list) error {
	var lat, lon int64
	for len(lats) > 0 {
		north, okLat := lats.nextSigned()
		east, okLon := lons.nextSigned()
		if !okLat || !okLon || len(d.object.places) == len(d.object.refs) {
			return errMalformed
		}
		lat, lon = lat+north, lon+east
		// 0, 0 is what is written of a node that the program did not find.
		known := (lat != 0 || lon != 0) && d.locate(lat, lon)
		d.object.places = append(d.object.places, place{d.object.lat, d.object.lon, known})
	}
	if n := len(d.object.places); len(lons) > 0 || n != 0 && n != len(d.object.refs) {
		return errMalformed
	}
	return nil
}

func (d *blockDecoder) relation(msg []byte) error {
	var f parts
	if err := f.read(msg, relationLists); err != nil {
		return err
	}
	if err := d.begin(mapdata.KindRelation, &f); err != nil {
		return err
	}
	types, ids, roles := f.lists[memberTypes], f.lists[memberIDs], f.lists[memberRoles]
	if len(types) > maxMembers {
		if n, err := types.count(); err != nil || n > maxMembers {
			return fmt.Errorf("a relation of %d members, where OpenStreetMap has 32,000 at most", n)
		}
	}
	id := int64(0)
	for len(types) > 0 {
		kind, okKind := types.next()
		delta, okID := ids.nextSigned()
		role, okRole := roles.next()
		if !okKind || !okID || !okRole || kind > uint64(mapdata.KindRelation) {
			return errMalformed
		}
		if err := d.checkString(role); err != nil {
			return err
		}
		id += delta
		d.object.members = append(d.object.members, member{id: id, kind: mapdata.Kind(kind), role: d.strings[role]})
	}
	if len(ids)+len(roles) > 0 {
		return errMalformed
	}
	return d.visit(&d.object)
}
