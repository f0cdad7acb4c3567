export { Card, CardNumber, cardMachine, cardUsages, numberMachine } from './card.ts'
