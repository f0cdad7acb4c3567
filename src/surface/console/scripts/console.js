// What every page of the console loads. What only some pages need is loaded by those.

import './words.js'
import './times.js'
import './copy.js'
import './live-part.js'
import './forms.js'
import { complain, part, words } from './page.js'

/** @type {[string, () => Promise<unknown>][]} */
const needed = [
  ['form[data-simulate]', () => import('./policy-form.js')],
  ['[data-push]', () => import('./push.js')],
  ['form[data-ask]', () => import('./ask.js')],
]

for (const [selector, load] of needed) if (part(selector)) load().catch(() => complain(words.offline))
