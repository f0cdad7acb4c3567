import type { Tenant } from './actor.ts'
import type { Sql } from './sql.ts'

interface Asking {
  readonly tenant: Tenant
  readonly sql: Sql
}

type AnswerQuestion<About, Answer> = (about: About, context: Asking) => Promise<Answer>

/**
 * What a noun asks of the nouns that may import it, and which it must not import: they answer in their areas, and
 * `service.ask` gives the answers in the order of the areas.
 */
export interface Question<About, Answer> {
  readonly name: string
  /** Only declared, so that those who ask and those who answer mean the same types. */
  readonly answeredBy?: AnswerQuestion<About, Answer>
}

export const question = <About, Answer>(name: string): Question<About, Answer> => ({ name })

export interface RegisteredAnswer {
  readonly question: string
  readonly answer: AnswerQuestion<never, unknown>
}

export const answerTo = <About, Answer>(
  { name }: Question<About, Answer>,
  answer: AnswerQuestion<About, Answer>,
): RegisteredAnswer => ({ question: name, answer })

export type AskAreas = <About, Answer>(
  question: Question<About, Answer>,
  about: About,
  context: Asking,
) => Promise<readonly Answer[]>
