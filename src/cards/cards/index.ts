export {
  CardControls,
  CardControlsBody,
  CardEvent,
  cardControlsApi,
  cardDisplayName,
  cardEvents,
  cardSteps,
  cardsApi,
  cardUsageSchema,
} from './api.ts'
export { Card, CardNumber, type cardNumberMachine, cardUsages } from './card.ts'
export { type LockedCard, lockCard } from './card-with-terms.ts'
export { cardStatus } from './cards.ts'
export { applyCardLimits, cardChangeBlocker } from './controls.ts'
export {
  type CardLimits,
  type IssueBlocker,
  issueCard,
  recordIssuedCard,
  requestCardIssue,
  reserveCardIssue,
} from './issue.ts'
export { cardProcess } from './process.ts'
export { returnDuePurse, returnPurses } from './purse.ts'
export { closeCardsOfAgent, firstCardToEnd } from './reactions.ts'
export { recordReplacement, requestReplacement, reserveReplacement } from './rotate.ts'
export { endDueCard, freezeCard, markCardsSpent } from './states.ts'
export {
  applyCardNotice,
  cardNoticeEvents,
  recordReplies,
  reserveInstruction,
  sendInstruction,
} from './sync-processor.ts'
export { wideningsOfCard, wideningsOfNewCard } from './widening.ts'
