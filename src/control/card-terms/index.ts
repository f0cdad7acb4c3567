export { CardTerms, cardStatuses } from './card-terms.ts'
export {
  type CardTermsRow,
  cardBudgets,
  compiledTermsOf,
  controlsOf,
  openCardTerms,
} from './open-card-terms.ts'
