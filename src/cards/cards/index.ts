export {
  CardControls,
  CardEvent,
  ControlsBody,
  cardEvents,
  cardsApi,
  controlsApi,
  displayName,
  usage,
} from './api.ts'
export { Card, CardNumber, cardUsages, type numberMachine } from './card.ts'
export { type LockedCard, lockCard } from './card-with-terms.ts'
export { setLimits, unchangeableReason } from './controls.ts'
export { type IssueBlocker, issueCard, type Limits } from './issue.ts'
export { cardProcess } from './process.ts'
export { returnPurses } from './purse.ts'
export { freezeCard, markCardsSpent } from './states.ts'
export { applyCardNotice, noticeEvents } from './sync-processor.ts'
