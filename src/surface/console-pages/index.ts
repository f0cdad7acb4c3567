export { consolePagesIcon, firstScript, sharedPageScript as sharedScript } from './assets.ts'
export { isCardUnusable, limitUnitOfRule, ruleName, rulesWithoutLimit } from './rule-texts.ts'
export { roleOf } from './views.ts'
