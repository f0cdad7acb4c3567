// Only the button by which a person signs out, and instants in the reader’s zone.

import './page.js'
