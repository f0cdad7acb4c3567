import type { CallAnswer } from '../../derive/call.ts'
import { linkedChallengeId } from '../../values/challenge-link.ts'
import { CommandFailure, exitCodes } from '../io.ts'
import type { ServiceReply } from './send.ts'

export function resultOrFailure({
  status,
  headers,
  body,
  error,
  code,
}: CallAnswer<unknown, ServiceReply['headers']>): unknown {
  // The service never redirects: something before it does.
  if (status < 300) return body
  const sentence = error ?? `The service answered with status ${status}.`
  const exitCode = status === 401 ? exitCodes.notSignedIn : exitCodes.refused
  const id = linkedChallengeId(headers.get('link'))
  const remedy = id === undefined ? '' : ` Read it: agentpay passkeys get-challenge ${id}`
  throw new CommandFailure(exitCode, sentence + remedy, code ?? String(status))
}
