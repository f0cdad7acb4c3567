// Loaded by every page of the console; pages load further scripts themselves.

import './words.js'
import './times.js'
import './copy.js'
import './live-part.js'
import './forms.js'
