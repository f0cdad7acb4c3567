export {
  CardTerms,
  type CardTermsRow,
  cardBudgets,
  cardControlsFromTerms,
  cardStatuses,
  compileStoredCardTerms,
  loadCardTerms,
} from './card-terms.ts'
