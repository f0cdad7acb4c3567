import type { Actor } from '../../kernel/contract/actor.ts'
import type { ToolTarget } from '../../kernel/contract/tool.ts'
import { type Result, refused } from './result.ts'

/**
 * A model that reads a merchant's text must not be able to spend by being told to: an agent's token is bounded by its
 * policy, and a key changes something only where whoever made it has said so.
 */
export const mayWrite = ({ type, toolWrites }: Actor): boolean => type === 'agent' || toolWrites === true

export const refusedWrite = ({ summary, operation }: ToolTarget, { type }: Actor): Result =>
  refused(
    'writes_by_tool_not_allowed',
    `${summary} (${operation}): ${type === 'console' ? 'a session of the console' : 'this key'} only reads by tools, so that no text that a model reads can change anything. Nothing was done.`,
    [
      'Ask the person to do it in the console, by the command `agentpay`, or by the API.',
      'To let an agent spend within its policy, connect with that agent’s own token.',
      'To let a key change things by tools, make one that says so: POST /keys with toolWrites: true.',
    ],
  )
