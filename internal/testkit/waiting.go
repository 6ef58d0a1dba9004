package testkit

import "flag"

// waiting is how many tests run at once if they mostly wait. One per processor would leave processors idle; many more
// would make timed steps late.
const waiting = "6"

// Waiting lets more tests run at once than there are processors. Call it in TestMain of packages whose tests mostly
// wait for servers. A -parallel on the command line takes precedence.
func Waiting() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", waiting) // a number is valid
	}
}
