export interface SentencePattern {
  readonly name: string
  readonly sentences: readonly string[]
}

const REFUSED = '(?:refused|denied|declined|rejected|turned down|not approved|blocked)'
const SPENT = '(?:spend|spent|pay|paid|cost|use|used)'
const WE = '(?:i|we|they|everybody|everyone|all agents|my agents|the agents|our agents)'
const UP_TO = '(?:up to |at most |no more than |only )?'
const SET = '(?:set|change|raise|lower|increase|decrease|reduce|put)'
const LAST = '(?:last|latest|newest|first|only)(?: one| payment| intent| request)?'

export const changePatterns: readonly SentencePattern[] = [
  {
    name: 'freeze',
    sentences: ['(?:freeze|stop|pause|disable|lock|block|suspend) {agent}(?: now| at once| immediately)?'],
  },
  {
    name: 'unfreeze',
    sentences: ['(?:unfreeze|resume|enable|unlock|unblock|thaw|reactivate|restart) {agent}(?: again)?'],
  },
  {
    name: 'limit',
    sentences: [
      `(?:let|allow) {agent}(?: to)? spend ${UP_TO}{number} {per}(?: (?:at|with|on) {merchant})?`,
      `(?:let|allow) {agent}(?: to)? spend ${UP_TO}{number} (?:at|with) {merchant} {per}`,
      `{agent} (?:may|can|should|must) (?:only )?spend ${UP_TO}{number} {per}(?: (?:at|with|on) {merchant})?`,
      `${SET} (?:the )?{per} (?:limit|budget) (?:of|for) {agent} to {number}`,
      `${SET} (?:the )?(?:limit|budget) (?:of|for) {agent} to {number} {per}`,
      `${SET} {agent} {per} (?:limit|budget) to {number}`,
      `${SET} {agent} (?:limit|budget) to {number} {per}`,
      '(?:limit|restrict|cap) {agent} (?:to|at) {number} {per}',
      '(?:give|grant) {agent} (?:a (?:budget|limit) of )?{number} {per}',
      '{agent} (?:gets|shall have) {number} {per}',
    ],
  },
  {
    name: 'limitUnclear',
    sentences: [
      `(?:let|allow) {agent}(?: to)? spend ${UP_TO}{number}(?: (?:at|with|on) {merchant})?`,
      `${SET} (?:the )?(?:limit|budget) (?:of|for) {agent} to {number}`,
      `${SET} {agent} (?:limit|budget) to {number}`,
      '(?:limit|restrict|cap) {agent} (?:to|at) {number}',
      `${SET} {agent}(?: {per})? (?:limit|budget)`,
      `${SET} (?:the )?(?:{per} )?(?:limit|budget) (?:of|for) {agent}`,
    ],
  },
  {
    name: 'card',
    sentences: [
      '(?:issue|create|make|order|get|add|open) (?:a |an |another )?(?:new |virtual )*card (?:for|to) {agent}',
      '(?:issue|give|get) {agent} (?:a |an |another )?(?:new |virtual )*card',
      '{agent} (?:needs|gets|should have) (?:a |an |another )?(?:new |virtual )*card',
    ],
  },
  {
    name: 'approve',
    sentences: [
      'approve(?: the)?(?: payment| intent)? {intent}',
      `approve (?:the )?${LAST}`,
      'approve (?:it|that|this)',
    ],
  },
  {
    name: 'deny',
    sentences: [
      '(?:deny|refuse|reject|decline)(?: the)?(?: payment| intent)? {intent}',
      `(?:deny|refuse|reject|decline) (?:the )?${LAST}`,
      '(?:deny|refuse|reject|decline) (?:it|that|this)',
    ],
  },
]

/**
 * Requests that read. `{agent}` and the like are entities, `{show}` is an imperative to show something; a
 * group with a question mark is optional.
 */
export const readPatterns: readonly SentencePattern[] = [
  {
    name: 'help',
    sentences: [
      'help',
      'what can you do',
      'what can i ask(?: you)?',
      'how does this work',
      'hello',
      'hi',
      'hey',
    ],
  },
  {
    name: 'waiting',
    sentences: [
      'what(?: is| are)?(?: still)? (?:waiting|pending|open)(?: for (?:me|us|approval|a person|a decision))?',
      '(?:{show} )?(?:the |my |all |open |pending |waiting )*(?:approvals|proposals)',
      'what (?:do|must|should|can) (?:i|we) (?:have to |need to )?(?:approve|decide)',
      '(?:is )?(?:there )?anything (?:waiting|pending|to approve)(?: for me)?',
      'what needs (?:my )?(?:approval|attention|a decision)',
      'who is waiting(?: for me)?',
    ],
  },
  {
    name: 'spent',
    sentences: [
      `(?:how much|what)(?: money)? (?:did|has|have|does) (?:{agent}|${WE}) ${SPENT}(?: so far)?(?: (?:at|to|with|on) {merchant})?(?: {period})?`,
      `(?:how much|what) (?:did|has|have) (?:{agent}|${WE}) ${SPENT} {period} (?:at|to|with|on) {merchant}`,
      '(?:how much|what) went to {merchant}(?: {period})?',
      '(?:how much|what) (?:was|is|has been|were)(?: all)? (?:spent|paid)(?: {period})?(?: by {agent})?',
      '(?:{show} )?(?:the |my |our |total )*(?:spend|spending|costs|expenses)(?: (?:of|by|for) {agent})?(?: {period})?',
      '(?:{show} )?{agent} (?:spend|spending|costs|expenses|spent)(?: {period})?',
      '(?:what|how much) were (?:the )?(?:costs|expenses)(?: (?:of|by|for) {agent})?(?: {period})?',
    ],
  },
  {
    name: 'byAgent',
    sentences: [
      `(?:which|what) agents?(?: has| have)? ${SPENT} (?:the )?most(?: money)?(?: {period})?`,
      `who(?: has)? ${SPENT} (?:the )?most(?: money)?(?: {period})?`,
      '(?:{show} )?(?:the |my |our )*(?:spend|spending|costs|expenses) by agent(?: {period})?',
      '(?:{show} )?(?:the |my |our )*(?:top|biggest|highest) (?:agents|spenders)(?: {period})?',
    ],
  },
  {
    name: 'balance',
    sentences: [
      'how much(?: money)? (?:does|has|have) {agent} (?:have|got|still have|still got)(?: left)?',
      'how much(?: money)? is in (?:the wallet of )?{agent}(?: wallet)?',
      '(?:{show} |what is |how much is )?(?:the )?balance (?:of|for) {agent}',
      '(?:{show} |what is |what are )?{agent} (?:balance|wallet|money|budgets?|limits?|usage)',
      '(?:how much|what) (?:can|may|could) {agent} (?:still )?(?:spend|pay)(?: {period})?',
      '(?:how much|what) is left (?:for|of|to) {agent}(?: {period})?',
      '(?:{show} |what is |what are )?(?:the )?(?:budgets?|limits?|usage) (?:of|for) {agent}',
      'how much has {agent} left(?: {period})?',
      '(?:{show} |what are )?(?:the |my |our |all )*(?:budgets|limits|usage)',
      'what is left(?: of the budgets?)?(?: {period})?',
    ],
  },
  {
    name: 'wallets',
    sentences: [
      'how much(?: money)? (?:do|have) (?:i|we) (?:have|got|still have)(?: left)?',
      '(?:{show} |what is |what are )?(?:the |my |our |all )*(?:balances?|wallets|money)',
    ],
  },
  {
    name: 'why',
    sentences: [
      `why (?:was|is|did|has)(?: the)?(?: payment| intent)? {intent}(?: (?:been )?(?:${REFUSED}|fail|waiting|approved))?`,
      'explain(?: the)?(?: payment| intent)? {intent}',
      'what happened (?:to|with) {intent}',
      `why (?:was|is|has)(?: the| my)? ${LAST}(?: (?:of|by|from) {agent})?(?: been)? ${REFUSED}`,
      `why (?:was|is|has) {agent}(?: last| latest)?(?: one| payment| intent| request| purchase)?(?: been)? ${REFUSED}`,
      `why did(?: the)? ${LAST}(?: (?:of|by|from) {agent})? fail`,
      'explain(?: me)? the last (?:refusal|refused one|refused payment)(?: of {agent})?',
      `what (?:was|were|has been|got) ${REFUSED}`,
    ],
  },
  {
    name: 'payments',
    sentences: [
      '(?:{show} |what (?:was|were|are) )?(?:the |my |our |all )*(?:last |latest |recent |newest )?(?:{number} )?(?:payments?|transactions?|purchases?)(?: (?:of|by|from) {agent})?(?: (?:at|to|with) {merchant})?(?: {period})?',
      '(?:{show} )?{agent} (?:last |latest |recent )?(?:{number} )?(?:payments?|transactions?|purchases?)(?: (?:at|to|with) {merchant})?(?: {period})?',
      'what (?:did|has) {agent} (?:buy|bought|pay for|paid for)(?: {period})?',
      'what (?:was|has been) bought(?: {period})?',
    ],
  },
]
