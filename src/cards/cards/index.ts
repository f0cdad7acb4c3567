export {
  CardControls,
  CardControlsBody,
  CardEvent,
  cardControlsApi,
  cardDisplayName,
  cardEvents,
  cardsApi,
  cardUsageSchema,
} from './api.ts'
export { Card, CardNumber, type cardNumberMachine, cardUsages } from './card.ts'
export { type LockedCard, lockCard } from './card-with-terms.ts'
export { applyCardLimits, cardChangeBlocker } from './controls.ts'
export { type CardLimits, type IssueBlocker, issueCard } from './issue.ts'
export { cardProcess } from './process.ts'
export { returnPurses } from './purse.ts'
export { freezeCard, markCardsSpent } from './states.ts'
export { applyCardNotice, cardNoticeEvents } from './sync-processor.ts'
export { wideningsOfCard, wideningsOfNewCard } from './widening.ts'
