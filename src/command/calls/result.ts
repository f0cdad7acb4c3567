import type { CallAnswer } from '../../derive/call.ts'
import { CommandFailure, exitCodes } from '../io.ts'
import type { ServiceReply } from './send.ts'

export function resultOrFailure({
  status,
  body,
  error,
  code,
}: CallAnswer<unknown, ServiceReply['headers']>): unknown {
  // The service never redirects: something before it does.
  if (status < 300) return body
  const sentence = error ?? `The service answered with status ${status}.`
  const exitCode = status === 401 ? exitCodes.notSignedIn : exitCodes.refused
  throw new CommandFailure(exitCode, sentence, code ?? String(status))
}
