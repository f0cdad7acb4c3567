export { type Commitment, commitmentTo, type Openings } from './commitments.ts'
export { agrees, challengeOf, newStatement, type Statement, sentenceOf } from './statement.ts'
export type {
  AmountText,
  Kind,
  StatedAssistant,
  StatedConstraints,
  StatedPayee,
  StatedProvider,
  Subjects,
} from './subjects.ts'
