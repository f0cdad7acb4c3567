import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Context } from '../../kernel/contract/context.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'
import { ownToolNamed, runOwnTool } from './own-tools.ts'
import { runTarget } from './run-operation.ts'
import { refused, type ToolCall, withoutCardNumbers } from './tool-call.ts'

export const callTool = async (call: ToolCall, context: Context): Promise<object> =>
  withoutCardNumbers(await answered(call, context), call.name, context)

/**
 * A defect of the service goes only to the log, since its message may come from the database. Protocol errors
 * are answered as such.
 */
async function answered(call: ToolCall, context: Context): Promise<object> {
  try {
    return await answerOf(call, context)
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { ports, requestId } = context
    ports.tools.reportFailure(error, requestId)
    return refused('internal', `Something went wrong on our side. Give us the X-Request-Id ${requestId}.`)
  }
}

async function answerOf(call: ToolCall, context: Context): Promise<object> {
  const own = ownToolNamed(call.name)
  if (own) return runOwnTool(own, call.given, context)
  const target = context.ports.tools.named(call.name)
  if (target) return runTarget(target, call, context)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(call.name))
}

/** An unknown tool is a protocol error. A refusal of a tool is a result, which the model reads. */
export const isTool = (name: string, { ports }: Context): boolean =>
  ownToolNamed(name) !== undefined || ports.tools.named(name) !== undefined

const LONGEST_NAME = 100

function unknownTool(name: string): string {
  const shown = maskCardNumbers(name.slice(0, LONGEST_NAME), { isCut: name.length > LONGEST_NAME })
  return `Unknown tool: ${shown}. tools/list shows the tools that you may call.`
}
