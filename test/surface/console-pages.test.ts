import './console-pages/by-http.ts'
import './console-pages/language.ts'
import './console-pages/plain-text.ts'
import './console-pages/words.ts'
