import type { CustomCommand } from '../context.ts'

export const mcpCommand: CustomCommand = {
  name: 'mcp',
  summary: 'Serve tools to an assistant on this machine',
  description:
    'Speaks the Model Context Protocol over standard input and output, one message per line, with the key or token of the profile. The assistant starts it. The tools are those of POST /mcp. See docs/how-to/assistants.md for the assistant’s configuration.',
  examples: ['agentpay mcp', 'agentpay mcp --profile reader'],
  async run(context) {
    const { forwardAssistantMessages: serve } = await import('../assistants/serve.ts')
    return serve(context)
  },
}
