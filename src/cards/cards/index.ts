export { Card, CardNumber } from './card.ts'
