// Every page of the console loads this script. Pages load further scripts themselves.

import './words.js'
import './copy.js'
import './live-part.js'
import './forms.js'
import './places.js'
import './shortcuts.js'
