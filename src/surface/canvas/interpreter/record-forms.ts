import type { Form } from './meaning.ts'

const SPENT = '(?:spend|spent|pay|paid|cost|use|used)'
const WE = '(?:i|we|they|everybody|everyone|all agents|my agents|the agents|our agents)'

/** What is read about records. */
export const aboutRecords: readonly Form[] = [
  {
    name: 'frozen',
    forms: [
      '(?:which|what) agents are (?:frozen|stopped|blocked)',
      '(?:{show} )?(?:the |my |all )*frozen agents',
      'who is frozen',
      'is (?:anybody|anyone|any agent|anything) frozen',
    ],
  },
  {
    name: 'agents',
    forms: [
      '(?:{show} )?(?:the |my |our |all )*agents',
      '(?:which|what|how many) agents (?:do (?:i|we) have|are there|exist|are active)',
      'who (?:are my agents|works for me|can spend)',
    ],
  },
  {
    name: 'cards',
    forms: [
      '(?:{show} )?(?:the |my |our |all )*cards(?: (?:of|for) {agent})?',
      '(?:{show} )?{agent} cards?',
      'which cards (?:are there|do (?:i|we) have|does {agent} have)',
    ],
  },
  {
    name: 'receipts',
    forms: [
      '(?:which|what) receipts (?:are|is) missing(?: {period})?',
      '(?:{show} )?(?:the |my |all )*missing receipts(?: (?:of|by|from) {agent})?(?: {period})?',
      '(?:which|what) payments (?:have|lack|are missing)(?: no)? (?:a )?receipts?(?: {period})?',
      'what is missing(?: {period})?',
    ],
  },
  {
    name: 'disputes',
    forms: [
      '(?:{show} )?(?:the |my |our |all |open )*(?:disputes|chargebacks)',
      'what is in dispute',
      'are there (?:any )?(?:open )?disputes',
    ],
  },
  {
    name: 'mandates',
    forms: [
      '(?:{show} )?(?:the |my |our |all |active )*mandates(?: (?:of|for) {agent})?',
      'what (?:have|did) (?:i|we) allow(?:ed)? in advance',
      'what is allowed in advance',
    ],
  },
  {
    name: 'proposals',
    forms: [
      '(?:{show} )?(?:the |my |our |all |open )*proposals',
      'what (?:is|was|has been) proposed',
      'what (?:did|does|has) {agent} (?:propose|proposed|wish|wish for)',
    ],
  },
  {
    name: 'merchants',
    forms: [
      `where (?:did|do|have) ${WE} ${SPENT} (?:the )?most(?: {period})?`,
      '(?:{show} |what are |who are )?(?:the |my |our )*(?:top|biggest|largest|main)? ?merchants(?: {period})?',
      '(?:where does|where did) (?:the|my|our|all the) money go(?: {period})?',
      'who (?:got|gets) (?:the )?most(?: {period})?',
    ],
  },
  {
    name: 'unusual',
    forms: [
      '(?:is|was) there anything (?:unusual|odd|strange|suspicious)(?: {period})?',
      'anything (?:unusual|odd|strange|suspicious)(?: {period})?',
      'what (?:is|was|looks|stands) (?:unusual|odd|strange|suspicious|out)(?: {period})?',
      '(?:{show} )?(?:the )?(?:anomalies|unusual spends?)(?: {period})?',
    ],
  },
  {
    name: 'forecast',
    forms: [
      `(?:how much|what) will (?:{agent}|${WE}) (?:spend|cost|pay|need)(?: (?:next month|soon|in the next days))?`,
      '(?:{show} )?(?:the |my |our )*forecast(?: (?:of|for) {agent})?',
      'when (?:will|does) {agent} run out(?: of money)?',
    ],
  },
  { name: 'runs', forms: ['(?:{show} )?(?:the |my |all |last |latest )*runs(?: (?:of|by) {agent})?'] },
  {
    name: 'statements',
    forms: ['(?:{show} )?(?:the |my |our |all )*(?:statements|account statements|bank statements)'],
  },
  { name: 'keys', forms: ['(?:{show} )?(?:the |my |our |all )*(?:api )?keys', 'who has (?:a )?keys?'] },
  {
    name: 'events',
    forms: [
      'what happened(?: {period})?',
      '(?:{show} )?(?:the |all |last |latest )*(?:events|activity|news)(?: (?:of|by|from) {agent})?(?: {period})?',
      'what (?:did|has|is) {agent} (?:do|done|doing|been doing)(?: {period})?',
      'what is new',
    ],
  },
  {
    name: 'agent',
    forms: [
      '{show} (?:the )?{agent}',
      '(?:how is|what about|what is|who is|what is with|tell me about) {agent}(?: doing)?',
      'is {agent} (?:frozen|active|ok|okay|fine|stopped|running)',
      '{agent}',
    ],
  },
]
