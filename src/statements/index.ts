export { type Commitment, commitmentTo, type Openings } from './commitments.ts'
export { agrees, challengeOf, newStatement, quoted, type Statement, sentenceOf } from './statement.ts'
export type {
  AmountText,
  Kind,
  StatedAssistant,
  StatedConstraints,
  StatedPayee,
  StatedProvider,
  StatedWidening,
  Subjects,
} from './subjects.ts'
