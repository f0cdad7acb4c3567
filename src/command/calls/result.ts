import type { Answer } from '../../derive/call.ts'
import { CommandFailure, exitCodes } from '../io.ts'
import type { Reply } from './send.ts'

export function resultOf({ status, body, error, code }: Answer<unknown, Reply['headers']>): unknown {
  if (status < 400) return body
  const sentence = error ?? `The service answered with status ${status}.`
  const exitCode = status === 401 ? exitCodes.notSignedIn : exitCodes.refused
  throw new CommandFailure(exitCode, sentence, code ?? String(status))
}
