export { firstScript, icon, shared as sharedScript } from './assets.ts'
export { hasNothingLeft, ruleName, unitOf } from './rule-words.ts'
