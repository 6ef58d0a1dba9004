package osmfile

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Field numbers of objects in the format (osmformat.proto).
const (
	denseIDs, denseInfo, denseLats, denseLons, denseTags = 1, 5, 8, 9, 10
	objectID, objectKeys, objectValues, objectInfo       = 1, 2, 3, 4
	nodeLat, nodeLon                                     = 8, 9
	wayRefs, wayLats, wayLons                            = 8, 9, 10
	memberRoles, memberIDs, memberTypes                  = 8, 9, 10
	infoVersion, infoLast                                = 1, 6
)

// The lists of each message.
const (
	objectLists    = 1<<objectKeys | 1<<objectValues | 1<<objectInfo
	denseLists     = 1<<denseIDs | 1<<denseInfo | 1<<denseLats | 1<<denseLons | 1<<denseTags
	wayLists       = objectLists | 1<<wayRefs | 1<<wayLats | 1<<wayLons
	relationLists  = objectLists | 1<<memberRoles | 1<<memberIDs | 1<<memberTypes
	denseInfoLists = 1<<(infoLast+1) - 1<<infoVersion
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
		o.ID, lat, lon = o.ID+id, lat+north, lon+east
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
			o.Version = int32(version)
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

// denseTags takes the tags of the next one of dense nodes: pairs of indexes, and a 0 behind them.
func (d *blockDecoder) denseTags(l *list) error {
	d.object.Tags.Reset()
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
	if err := d.checkString(key); err != nil {
		return err
	}
	if err := d.checkString(value); err != nil {
		return err
	}
	name := d.strings[key]
	if d.keys[key] == 0 {
		d.keys[key] = uint16(tags.KeyOf(name)) + 1
	}
	d.object.Tags.Add(tags.Key(d.keys[key]-1), name, d.strings[value])
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
	d.object.ID = zigZag(f.numbers[objectID])
	if !d.locate(zigZag(f.numbers[nodeLat]), zigZag(f.numbers[nodeLon])) {
		return nil
	}
	return d.visit(&d.object)
}

// begin takes what all objects have: id, tags and version.
func (d *blockDecoder) begin(kind mapdata.Kind, f *parts) error {
	d.object.reset(kind)
	d.object.ID = int64(f.numbers[objectID])
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
		if num == infoVersion {
			d.object.Version = int32(v)
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
		d.found |= Located
	} else if d.want&Ways == 0 {
		return nil
	}
	if err := d.begin(mapdata.KindWay, &f); err != nil {
		return err
	}
	if l := f.lists[wayRefs]; len(l) > maxRefs {
		if n, err := l.count(); err != nil || n > maxRefs {
			d.object.TooLarge = true
			return cmp.Or(err, d.visit(&d.object))
		}
	}
	id := int64(0)
	for refs := f.lists[wayRefs]; len(refs) > 0; {
		delta, ok := refs.nextSigned()
		if !ok {
			return errMalformed
		}
		id += delta
		d.object.Refs = append(d.object.Refs, id)
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
		if !okLat || !okLon || len(d.object.Places) == len(d.object.Refs) {
			return errMalformed
		}
		lat, lon = lat+north, lon+east
		// 0, 0 is what is written of a node that the program did not find.
		known := (lat != 0 || lon != 0) && d.locate(lat, lon)
		d.object.Places = append(d.object.Places, Place{d.object.Lat, d.object.Lon, known})
	}
	if n := len(d.object.Places); len(lons) > 0 || n != 0 && n != len(d.object.Refs) {
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
			d.object.TooLarge = true
			return cmp.Or(err, d.visit(&d.object))
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
		d.object.Members = append(d.object.Members, Member{ID: id, Kind: mapdata.Kind(kind), Role: d.strings[role]})
	}
	if len(ids)+len(roles) > 0 {
		return errMalformed
	}
	return d.visit(&d.object)
}
