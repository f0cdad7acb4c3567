import type { Context } from '../../kernel/contract/context.ts'
import { type Proposed, propose } from '../proposals/index.ts'
import { type Result, refused, succeeded } from './result.ts'
import type { Given } from './tool-call.ts'

interface Wish {
  readonly operation: string
  readonly given: Given
  readonly reason: string | null
}

/** What a model may not do itself is proposed to a person: it is told where they find it. */
export async function proposeByTool(wish: Wish, context: Context): Promise<Result> {
  const answer = await propose(wish, context)
  if ('code' in answer) return refused(answer.code, answer.message, waysOut(answer.code))
  const { proposal, isRepeated } = answer
  return succeeded({ proposal: shown(proposal) }, false, sentence(proposal, isRepeated, context))
}

const sentence = ({ id, expiresAt }: Proposed, isRepeated: boolean, { ports }: Context): string =>
  `${isRepeated ? 'This is proposed already.' : 'This is proposed, and nothing has changed.'} A person has to apply it, until ${expiresAt}, at ${ports.pageUrl(`/console/proposals/${id}`)}. Tell them. Do not say that it is done.`

/** What a model needs of it: the input is its own. */
const shown = ({ id, status, summary, operation, changes, effect, expiresAt }: Proposed) => ({
  id,
  status,
  summary,
  operation,
  changes,
  effect,
  expiresAt,
})

const waysOut = (code: string): readonly string[] =>
  code === 'not_proposable' || code === 'missing_scope'
    ? ['Ask the person to do it in the console, by the command `agentpay`, or by the API.']
    : []
