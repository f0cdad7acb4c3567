// What every page of the console loads. What only some pages need, those name themselves.

import './words.js'
import './times.js'
import './copy.js'
import './live-part.js'
import './forms.js'
