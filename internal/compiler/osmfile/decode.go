package osmfile

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Field numbers of blocks and objects (osmformat.proto).
const (
	blockStrings, blockGroup                             = 1, 2
	blockGranularity, blockLatOffset, blockLonOffset     = 17, 19, 20
	groupNode, groupDense, groupWay, groupRelation       = 1, 2, 3, 4
	denseIDs, denseInfo, denseLats, denseLons, denseTags = 1, 5, 8, 9, 10
	objectID, objectKeys, objectValues, objectInfo       = 1, 2, 3, 4
	nodeLat, nodeLon                                     = 8, 9
	wayRefs, wayLats, wayLons                            = 8, 9, 10
	memberRoles, memberIDs, memberTypes                  = 8, 9, 10
	infoVersion                                          = 1
)

var groupKinds = [...]Kinds{groupNode: Nodes, groupDense: Nodes, groupWay: Ways, groupRelation: Relations}

// decoder decodes blocks (PrimitiveBlock) and hands over their objects, one at a time.
type decoder struct {
	want  Kinds
	visit func(o *Object)

	found                Kinds // of the block
	strings              []string
	keys                 []uint16 // for each string its number as a key plus one, or 0 if not looked up yet
	granularity          int64
	latOffset, lonOffset int64
	object               Object
}

// decode decodes a block. Kinds that are not wanted are only noted in d.found.
func (d *decoder) decode(block []byte) {
	d.found, d.granularity, d.latOffset, d.lonOffset = 0, 100, 0, 0
	var table []byte
	for rest := (wire{data: block}); rest.more(); {
		switch num, v, b := rest.field(); num {
		case blockStrings:
			table = b
		case blockGranularity:
			d.granularity = int64(int32(v))
		case blockLatOffset:
			d.latOffset = int64(v)
		case blockLonOffset:
			d.lonOffset = int64(v)
		}
	}
	if table == nil {
		panic(errMalformed)
	}
	d.readStrings(table)
	for rest := (wire{data: block}); rest.more(); {
		if num, _, b := rest.field(); num == blockGroup {
			d.group(b)
		}
	}
}

// readStrings reads the texts of a block. All are substrings of one string.
func (d *decoder) readStrings(table []byte) {
	d.strings = d.strings[:0]
	all := string(table)
	for rest := (wire{data: table}); rest.more(); {
		num, _, b := rest.field()
		if num != 1 {
			panic(errMalformed)
		}
		d.strings = append(d.strings, all[rest.at-len(b):rest.at])
	}
	d.keys = append(d.keys[:0], make([]uint16, len(d.strings))...)
}

func (d *decoder) string(i uint64) string {
	if i >= uint64(len(d.strings)) {
		fail("%w: string %d of %d", errMalformed, i, len(d.strings))
	}
	return d.strings[i]
}

func (d *decoder) group(data []byte) {
	for group := (wire{data: data}); group.more(); {
		num, _, b := group.field()
		if num > groupRelation {
			continue
		}
		d.found |= groupKinds[num]
		if d.want&groupKinds[num] == 0 {
			continue
		}
		switch num {
		case groupNode:
			d.node(b)
		case groupDense:
			d.dense(b)
		case groupWay:
			d.way(b)
		case groupRelation:
			d.relation(b)
		}
	}
}

// dense decodes nodes in DenseNodes: a list for each property, mostly of differences to the previous node.
func (d *decoder) dense(msg []byte) {
	var f, info fields
	f.read(msg)
	info.read(f.lists[denseInfo].data)
	ids, lats, lons := f.lists[denseIDs], f.lists[denseLats], f.lists[denseLons]
	pairs, versions := f.lists[denseTags], info.lists[infoVersion]
	tagged, versioned := pairs.more(), versions.more()
	o := &d.object
	o.reset(region.KindNode)
	var lat, lon int64
	for ids.more() {
		o.ID += ids.signed()
		lat += lats.signed()
		lon += lons.signed()
		if tagged { // pairs of indexes, and a 0 after those of each node
			o.Tags.Reset()
			for key := pairs.number(); key != 0; key = pairs.number() {
				d.addTag(key, pairs.number())
			}
		}
		if versioned {
			o.Version = int32(versions.number())
		}
		if d.locate(lat, lon) {
			d.visit(o)
		}
	}
	if lats.more() || lons.more() || pairs.more() {
		panic(errMalformed)
	}
}

// locate sets the position of the object, which is given in units of the block. It returns false if that is not on
// Earth.
func (d *decoder) locate(lat, lon int64) bool {
	const maxLat, maxLon = 90_0000000, 180_0000000
	lat7, lon7 := nanoToFixed(d.latOffset+d.granularity*lat), nanoToFixed(d.lonOffset+d.granularity*lon)
	if lat7 < -maxLat || lat7 > maxLat || lon7 < -maxLon || lon7 > maxLon {
		return false
	}
	d.object.Lat, d.object.Lon = int32(lat7), int32(lon7)
	return true
}

// nanoToFixed rounds 1e-9 degrees to 1e-7.
func nanoToFixed(nano int64) int64 {
	const shift = 1e12 // makes positions on Earth positive
	return (nano+shift+50)/100 - shift/100
}

func (d *decoder) addTag(key, value uint64) {
	name := d.string(key)
	if d.keys[key] == 0 {
		d.keys[key] = uint16(tags.KeyOf(name)) + 1
	}
	d.object.Tags.Add(tags.Key(d.keys[key]-1), name, d.string(value))
}

// begin sets id, tags and version of an object.
func (d *decoder) begin(kind region.Kind, f *fields) {
	d.object.reset(kind)
	d.object.ID = int64(f.numbers[objectID])
	values := f.lists[objectValues]
	for keys := f.lists[objectKeys]; keys.more(); {
		d.addTag(keys.number(), values.number())
	}
	if values.more() {
		panic(errMalformed)
	}
	var info fields
	info.read(f.lists[objectInfo].data)
	d.object.Version = int32(info.numbers[infoVersion])
}

// node decodes a node that is a message of its own.
func (d *decoder) node(msg []byte) {
	var f fields
	f.read(msg)
	d.begin(region.KindNode, &f)
	d.object.ID = protowire.DecodeZigZag(f.numbers[objectID])
	if d.locate(protowire.DecodeZigZag(f.numbers[nodeLat]), protowire.DecodeZigZag(f.numbers[nodeLon])) {
		d.visit(&d.object)
	}
}

func (d *decoder) way(msg []byte) {
	var f fields
	f.read(msg)
	d.begin(region.KindWay, &f)
	o := &d.object
	refs, lats, lons := f.lists[wayRefs], f.lists[wayLats], f.lists[wayLons]
	located := lats.more()
	var id, lat, lon int64
	for refs.more() && !o.TooLarge {
		id += refs.signed()
		o.Refs = append(o.Refs, id)
		o.TooLarge = len(o.Refs) > maxRefs
		if !located {
			continue
		}
		lat += lats.signed()
		lon += lons.signed()
		// Programs write 0, 0 for nodes that they did not find.
		if (lat != 0 || lon != 0) && d.locate(lat, lon) {
			o.Places = append(o.Places, Place{id, o.Lat, o.Lon})
		}
	}
	if o.TooLarge {
		o.Refs, o.Places = nil, nil
	} else if lats.more() || lons.more() {
		panic(errMalformed)
	}
	d.visit(o)
}

func (d *decoder) relation(msg []byte) {
	var f fields
	f.read(msg)
	d.begin(region.KindRelation, &f)
	o := &d.object
	types, ids, roles := f.lists[memberTypes], f.lists[memberIDs], f.lists[memberRoles]
	id := int64(0)
	for types.more() && !o.TooLarge {
		kind := types.number()
		if kind > uint64(region.KindRelation) {
			panic(errMalformed)
		}
		id += ids.signed()
		o.Members = append(o.Members, Member{ID: id, Kind: region.Kind(kind), Role: d.string(roles.number())})
		o.TooLarge = len(o.Members) > maxMembers
	}
	if o.TooLarge {
		o.Members = nil
	} else if ids.more() || roles.more() {
		panic(errMalformed)
	}
	d.visit(o)
}
