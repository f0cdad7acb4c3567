// Only the button by which a person signs out.

import './page.js'
