// Judges histories of a key-value store by the checker porcupine, as a second opinion on Corecast's own.
//
// It reads histories as JSON lines, a call each, from its standard input; an empty line ends a history. For each history it
// prints whether there is an order that explains it, `true` or `false`. docs/agreement.md tells what a line is.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/anishathalye/porcupine"
)

// A value is a list of bytes; the nil list is a key that is not there.
type value []int

func (v value) equal(other value) bool {
	if (v == nil) != (other == nil) || len(v) != len(other) {
		return false
	}
	for i := range v {
		if v[i] != other[i] {
			return false
		}
	}
	return true
}

type request struct {
	Op       string
	Key      value
	Value    value
	Expected value
}

type call struct {
	Client   int
	Begin    int64
	End      *int64
	Request  request
	Response value
}

// An answer of a call that returned; one that never did may have been answered anything.
type answer struct {
	returned bool
	value    value
}

func step(state, input, output interface{}) (bool, interface{}) {
	before, asked := state.(value), input.(request)
	var response value
	after := before
	switch asked.Op {
	case "get":
		response = before
	case "set":
		after = asked.Value
	case "swap":
		response, after = before, asked.Value
	case "compare_and_swap":
		response = before
		if before.equal(asked.Expected) {
			after = asked.Value
		}
	default:
		log.Fatalf("the operation %q is not known", asked.Op)
	}
	answered := output.(answer)
	return !answered.returned || answered.value.equal(response), after
}

func partition(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, operation := range history {
		key := fmt.Sprint(operation.Input.(request).Key)
		parts[key] = append(parts[key], operation)
	}
	var all [][]porcupine.Operation
	for _, part := range parts {
		all = append(all, part)
	}
	return all
}

func main() {
	model := porcupine.Model{
		Partition: partition,
		Init:      func() interface{} { return value(nil) },
		Step:      step,
		Equal:     func(a, b interface{}) bool { return a.(value).equal(b.(value)) },
	}
	var history []porcupine.Operation
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			fmt.Println(porcupine.CheckOperations(model, history))
			history = nil
			continue
		}
		var read call
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			log.Fatalf("%v in the line %s", err, lines.Text())
		}
		end := int64(math.MaxInt64)
		if read.End != nil {
			end = *read.End
		}
		history = append(history, porcupine.Operation{
			ClientId: read.Client,
			Input:    read.Request,
			Call:     read.Begin,
			Output:   answer{returned: read.End != nil, value: read.Response},
			Return:   end,
		})
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
