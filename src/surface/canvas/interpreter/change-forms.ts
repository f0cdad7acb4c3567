import type { Form } from './meaning.ts'

/** What is changed: each of them becomes a proposal. */
export const changes: readonly Form[] = [
  {
    name: 'freeze',
    forms: ['(?:freeze|stop|pause|disable|lock|block|suspend) {agent}(?: now| at once| immediately)?'],
  },
  {
    name: 'unfreeze',
    forms: ['(?:unfreeze|resume|enable|unlock|unblock|thaw|reactivate|restart) {agent}(?: again)?'],
  },
  {
    name: 'limit',
    forms: [
      '(?:let|allow) {agent}(?: to)? spend (?:up to |at most |no more than |only )?{number} {per}(?: (?:at|with|on) {merchant})?',
      '(?:let|allow) {agent}(?: to)? spend (?:up to |at most |no more than |only )?{number} (?:at|with) {merchant} {per}',
      '{agent} (?:may|can|should|must) (?:only )?spend (?:up to |at most |no more than |only )?{number} {per}(?: (?:at|with|on) {merchant})?',
      '(?:set|change|raise|lower|increase|decrease|reduce|put) (?:the )?{per} (?:limit|budget) (?:of|for) {agent} to {number}',
      '(?:set|change|raise|lower|increase|decrease|reduce|put) (?:the )?(?:limit|budget) (?:of|for) {agent} to {number} {per}',
      '(?:set|change|raise|lower|increase|decrease|reduce|put) {agent} {per} (?:limit|budget) to {number}',
      '(?:set|change|raise|lower|increase|decrease|reduce|put) {agent} (?:limit|budget) to {number} {per}',
      '(?:limit|restrict|cap) {agent} (?:to|at) {number} {per}',
      '(?:give|grant) {agent} (?:a (?:budget|limit) of )?{number} {per}',
      '{agent} (?:gets|shall have) {number} {per}',
    ],
  },
  {
    name: 'limitUnclear',
    forms: [
      '(?:let|allow) {agent}(?: to)? spend (?:up to |at most |no more than |only )?{number}(?: (?:at|with|on) {merchant})?',
      '(?:set|change|raise|lower|increase|decrease|reduce|put) (?:the )?(?:limit|budget) (?:of|for) {agent} to {number}',
      '(?:set|change|raise|lower|increase|decrease|reduce|put) {agent} (?:limit|budget) to {number}',
      '(?:limit|restrict|cap) {agent} (?:to|at) {number}',
      '(?:set|change|raise|lower|increase|decrease|reduce) {agent}(?: {per})? (?:limit|budget)',
      '(?:set|change|raise|lower|increase|decrease|reduce) (?:the )?(?:{per} )?(?:limit|budget) (?:of|for) {agent}',
    ],
  },
  {
    name: 'askAbove',
    forms: [
      'ask (?:me|us|a person) (?:above|over|from|for more than) {number} (?:for|of|from) {agent}',
      'ask (?:me|us|a person) (?:when|if|before) {agent} (?:spends|pays) (?:more than|over|above) {number}',
      '{agent} (?:must|should|has to) ask (?:me|us|a person) (?:above|over|from) {number}',
    ],
  },
  {
    name: 'allowMerchant',
    forms: [
      '(?:let|allow) {agent}(?: to)? (?:buy|shop|pay|spend|order) (?:at|from|with) {merchant}',
      '(?:allow|permit) {merchant} (?:for|to) {agent}',
      '{agent} (?:may|can) (?:buy|shop|pay|spend|order) (?:at|from|with) {merchant}',
    ],
  },
  {
    name: 'blockMerchant',
    forms: [
      '(?:block|forbid|ban|prohibit) {merchant} (?:for|to) {agent}',
      '(?:do not|never) (?:let|allow) {agent}(?: to)? (?:buy|shop|pay|spend|order) (?:at|from|with) {merchant}',
      '{agent} (?:may not|must not|cannot|can not|should not) (?:buy|shop|pay|spend|order) (?:at|from|with) {merchant}',
    ],
  },
  {
    name: 'createAgent',
    forms: ['(?:create|make|add|new|open) (?:an? )?(?:new )?agent (?:called |named |with the name )?{text}'],
  },
  { name: 'rename', forms: ['(?:rename|call) {agent} (?:to |into )?{text}'] },
  {
    name: 'fund',
    forms: [
      '(?:fund|top up|charge|load) {agent} (?:with|by) {number}',
      '(?:give|send|transfer|move|add|pay) {number} to {agent}',
      '(?:give|send) {agent} {number}',
    ],
  },
  {
    name: 'approve',
    forms: [
      'approve(?: the)?(?: payment| intent)? {intent}',
      'approve (?:the )?(?:last|latest|newest|first|only)(?: one| payment| intent| request)?',
      'approve (?:it|that|this)',
    ],
  },
  {
    name: 'deny',
    forms: [
      '(?:deny|refuse|reject|decline)(?: the)?(?: payment| intent)? {intent}',
      '(?:deny|refuse|reject|decline) (?:the )?(?:last|latest|newest|first|only)(?: one| payment| intent| request)?',
      '(?:deny|refuse|reject|decline) (?:it|that|this)',
    ],
  },
  { name: 'cancel', forms: ['cancel(?: the)?(?: payment| intent)? {intent}'] },
]
