import { ProtocolError } from '@modelcontextprotocol/server'
import type { Context } from '../../kernel/contract/context.ts'
import { ownTools } from './own-tools.ts'
import { refused, withoutCardNumbers } from './result.ts'
import { runTarget } from './run-target.ts'
import type { ToolCall } from './tool-call.ts'

/** Answers a call; what nobody may see is kept from every answer. */
export const callTool = async (call: ToolCall, context: Context): Promise<object> =>
  withoutCardNumbers(await answered(call, context), call.name, context)

/** A defect of ours is for the log: its words may be those of the database. What the protocol says it says itself. */
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
  const { actor, ports } = context
  const own = ownTools(actor).find(({ definition }) => definition.name === call.name)
  if (own) return own.run(call.given, context)
  const target = ports.tools.named(call.name)
  if (target) return runTarget(target, call, context)
  return refused('unknown_tool', 'There is no such tool. tools/list shows those that you may call.')
}
