import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { mcpApi } from './api.ts'
import { mcpPersonal } from './personal.ts'
import { foreignPart } from './sender.ts'

const mcp = implement(mcpApi, {
  async message(_, context) {
    const foreign = foreignPart(context)
    if (foreign) return context.refuse(foreign)
    // Most processes never serve an assistant: the protocol is loaded with the first message.
    const { serve } = await import('./serve.ts')
    return serve(context)
  },
})

export const mcpArea = area(
  'Assistants',
  'The operations as tools of assistants, by the Model Context Protocol.',
  mcp,
  {
    personal: mcpPersonal,
    expiring: [{ table: 'tool_calls', column: 'last_called_at', keptMs: 600_000 }],
  },
)
