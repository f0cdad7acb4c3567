// The button by which a person signs out, and instants in the reader’s zone.

import { showTimes } from './page.js'

showTimes(document)
