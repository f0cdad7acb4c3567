export { firstScript, icon, shared as sharedScript } from './assets.ts'
export { isCardUnusable, ruleName, rulesWithoutLimit as hasNothingLeft, unitOf } from './rule-texts.ts'
