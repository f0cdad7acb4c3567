export { firstScript, icon, shared as sharedScript } from './assets.ts'
export { hasNothingLeft, isCardUnusable, ruleName, unitOf } from './rule-words.ts'
