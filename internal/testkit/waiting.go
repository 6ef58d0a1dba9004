package testkit

import "flag"

// waiting is how many tests that mostly wait run at once: as many as there are processors would leave those idle, and
// many more would make everything late that is to be in time.
const waiting = "6"

// Waiting lets more tests run at once than there are processors, for the TestMain of packages whose tests wait for
// servers most of their time. What the command line says of -parallel stands.
func Waiting() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", waiting) // a number is valid
	}
}
