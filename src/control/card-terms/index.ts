export {
  CardTerms,
  type CardTermsRow,
  cardBudgets,
  cardStatuses,
  compiledTermsOf,
  controlsOf,
  openCardTerms,
} from './card-terms.ts'
