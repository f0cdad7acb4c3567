import type { Form } from './meaning.ts'

const REFUSED = '(?:refused|denied|declined|rejected|turned down|not approved|blocked)'
const SPENT = '(?:spend|spent|pay|paid|cost|use|used)'
const WE = '(?:i|we|they|everybody|everyone|all agents|my agents|the agents|our agents)'

/**
 * What is read about money. `{agent}` and the like stand for what the sentence names; `{show}` for an order to show; a bracket with a
 * question mark for what may be left out.
 */
export const aboutMoney: readonly Form[] = [
  {
    name: 'help',
    forms: ['help', 'what can you do', 'what can i ask(?: you)?', 'how does this work', 'hello', 'hi', 'hey'],
  },
  {
    name: 'waiting',
    forms: [
      'what(?: is| are)?(?: still)? (?:waiting|pending|open)(?: for (?:me|us|approval|a person|a decision))?',
      '(?:{show} )?(?:the |my |all |open |pending |waiting )*approvals',
      'what (?:do|must|should|can) (?:i|we) (?:have to |need to )?(?:approve|decide)',
      '(?:is )?(?:there )?anything (?:waiting|pending|to approve)(?: for me)?',
      'what needs (?:my )?(?:approval|attention|a decision)',
      'who is waiting(?: for me)?',
    ],
  },
  {
    name: 'spentAt',
    forms: [
      `(?:how much|what) (?:did|has|have) (?:{agent}|${WE}) ${SPENT} (?:at|to|with|on) {merchant}(?: {period})?`,
      `(?:how much|what) (?:did|has|have) (?:{agent}|${WE}) ${SPENT} {period} (?:at|to|with|on) {merchant}`,
      '(?:how much|what) went to {merchant}(?: {period})?',
    ],
  },
  {
    name: 'spent',
    forms: [
      `(?:how much|what)(?: money)? (?:did|has|have|does) (?:{agent}|${WE}) ${SPENT}(?: so far)?(?: {period})?`,
      '(?:how much|what) (?:was|is|has been|were)(?: all)? (?:spent|paid)(?: {period})?(?: by {agent})?',
      '(?:{show} )?(?:the |my |our |total )*(?:spend|spending|costs|expenses)(?: (?:of|by|for) {agent})?(?: {period})?',
      '(?:{show} )?{agent} (?:spend|spending|costs|expenses|spent)(?: {period})?',
      'what is the total {period}',
      '(?:what|how much) were (?:the )?(?:costs|expenses)(?: (?:of|by|for) {agent})?(?: {period})?',
    ],
  },
  {
    name: 'balance',
    forms: [
      'how much(?: money)? (?:does|has|have) {agent} (?:have|got|still have|still got)(?: left)?',
      'how much(?: money)? is in (?:the wallet of )?{agent}(?: wallet)?',
      '(?:{show} |what is |how much is )?(?:the )?balance (?:of|for) {agent}',
      '(?:{show} |what is )?{agent} (?:balance|wallet|money)',
    ],
  },
  {
    name: 'balances',
    forms: [
      'how much(?: money)? (?:do|have) (?:i|we) (?:have|got|still have)(?: left)?',
      '(?:{show} |what is |what are )?(?:the |my |our |all )*(?:balances?|wallets|money)',
    ],
  },
  {
    name: 'left',
    forms: [
      '(?:how much|what) (?:can|may|could) {agent} (?:still )?(?:spend|pay)(?: {period})?',
      '(?:how much|what) is left (?:for|of|to) {agent}(?: {period})?',
      '(?:{show} |what is |what are )?(?:the )?(?:budgets?|limits?|usage) (?:of|for) {agent}',
      '(?:{show} |what is |what are )?{agent} (?:budgets?|limits?|usage)',
      'how much has {agent} left(?: {period})?',
    ],
  },
  {
    name: 'budgets',
    forms: [
      '(?:{show} |what are )?(?:the |my |our |all )*(?:budgets|limits|usage)',
      'what is left(?: of the budgets?)?(?: {period})?',
      'who is (?:close to|near|at) (?:the|their|a) limits?',
    ],
  },
  {
    name: 'policy',
    forms: [
      '(?:{show} |what is |what are )?(?:the )?(?:policy|rules) (?:of|for) {agent}',
      '(?:{show} |what is |what are )?{agent} (?:policy|rules)',
      'what (?:is|are) {agent} allowed(?: to (?:do|buy|spend|pay))?',
      'what (?:may|can) {agent} (?:do|buy)',
      'where (?:may|can) {agent} (?:spend|buy|shop|pay)',
    ],
  },
  {
    name: 'whyIntent',
    forms: [
      `why (?:was|is|did|has)(?: the)?(?: payment| intent)? {intent}(?: (?:been )?(?:${REFUSED}|fail|waiting|approved))?`,
      'explain(?: the)?(?: payment| intent)? {intent}',
      'what happened (?:to|with) {intent}',
    ],
  },
  {
    name: 'whyLast',
    forms: [
      `why (?:was|is|has)(?: the| my)? (?:last|latest|newest)(?: one| payment| intent| request| purchase)?(?: (?:of|by|from) {agent})?(?: been)? ${REFUSED}`,
      `why (?:was|is|has) {agent}(?: last| latest)?(?: one| payment| intent| request| purchase)?(?: been)? ${REFUSED}`,
      'why did(?: the)? last (?:one|payment|intent|request)(?: (?:of|by|from) {agent})? fail',
      `explain(?: me)? the last (?:refusal|refused one|refused payment)(?: of {agent})?`,
      `what was wrong with the last (?:one|payment|intent)(?: of {agent})?`,
    ],
  },
  {
    name: 'refusals',
    forms: [
      `what (?:was|were|has been|got) ${REFUSED}(?: {period})?`,
      `(?:{show} )?(?:the |my |all )*(?:${REFUSED} (?:intents|payments|ones|requests)|refusals|denials)(?: (?:of|by|for) {agent})?(?: {period})?`,
      `which (?:intents|payments|requests) were ${REFUSED}(?: {period})?`,
    ],
  },
  {
    name: 'payments',
    forms: [
      '(?:{show} |what (?:was|were|are) )?(?:the |my |our )*(?:last|latest|recent|newest) (?:{number} )?(?:payments?|transactions?|purchases?)(?: (?:of|by|from) {agent})?(?: {period})?',
      '(?:{show} )?(?:the |my |our |all )*(?:payments|transactions|purchases)(?: (?:of|by|from) {agent})?(?: {period})?',
      '(?:{show} )?{agent} (?:last |latest |recent )?(?:{number} )?(?:payments|transactions|purchases)(?: {period})?',
      'what (?:did|has) {agent} (?:buy|bought|pay for|paid for)(?: {period})?',
      'what (?:was|has been) bought(?: {period})?',
    ],
  },
  {
    name: 'intents',
    forms: [
      '(?:{show} )?(?:the |my |all |last |latest )*(?:intents|requests)(?: (?:of|by|from) {agent})?(?: {period})?',
      'what does {agent} want(?: to buy)?',
      'what (?:did|has) {agent} (?:ask|asked) for(?: {period})?',
    ],
  },
]
