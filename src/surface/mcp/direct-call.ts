import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import { callTool, isTool } from './call-tool.ts'
import { answerFile, answerText, isObject, membersOf, type PlainRequest } from './plain-request.ts'

/** It holds the connection for long: its answer is to begin at once, as the protocol's own way lets it. */
const LONG = 'wait_for_intent'

const NAMED = new Set(['name', 'arguments name'])

/**
 * Answers a plain call of a tool without the protocol's server, which costs several times what the operation does: the same
 * bytes, as a test says. Undefined for every other request, and for one that is not quite as it should be.
 */
export async function callDirectly(request: PlainRequest, context: Context): Promise<File | undefined> {
  const { method, params, isNewest } = request
  const { name, arguments: given = {} } = params
  if (method !== 'tools/call' || !NAMED.has(membersOf(params)) || !isObject(given)) return undefined
  if (typeof name !== 'string' || name === LONG || !isTool(name, context)) return undefined
  const result = await callTool({ name, given, canOpenUrls: false, responses: undefined }, context)
  return answerFile(request, answerText(request, isNewest ? { ...result, resultType: 'complete' } : result))
}
