import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { mcpApi } from './api.ts'
import { mcpPersonal } from './personal.ts'
import { foreignPart } from './sender.ts'
import { serve } from './serve.ts'

const mcp = implement(mcpApi, {
  message(_, context) {
    const foreign = foreignPart(context)
    return foreign ? context.refuse(foreign) : serve(context)
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
