// Shows the instants of the page in the reader's zone, as all pages of people do.

import { showTimes } from './page.js'

export { showTimes, timeOf } from './page.js'

showTimes(document)
