package account

// Fault is what is wrong with a store that answers nevertheless. Its text is for anybody: it names no file and no
// server.
type Fault string

const (
	// FaultCannotWrite: changes fail, of a full disk or a database that is read-only, say. What is stored is still read.
	FaultCannotWrite Fault = "the store cannot write"
	// FaultDamaged: a part of what was stored is damaged. Requests that need it get 503, all others go on.
	FaultDamaged Fault = "the store is damaged"
)

// Faulty is implemented by a Store that can tell what is wrong with it.
type Faulty interface {
	// Faults returns what is wrong now, nothing while all is well. It asks nobody and takes no time.
	Faults() []Fault
}
