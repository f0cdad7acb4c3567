export { Card, CardNumber, cardUsages, type numberMachine } from './card.ts'
export { applyCardNotice, noticeEvents } from './notices.ts'
export { cardProcess } from './process.ts'
export { spendCards } from './schedule-cards.ts'
