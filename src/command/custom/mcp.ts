import type { CustomCommand } from '../context.ts'

export const serveAssistant: CustomCommand = {
  name: 'mcp',
  summary: 'Serve an assistant on this machine with tools',
  description:
    'Speaks the Model Context Protocol over standard input and output, one message a line, with the key or token of the profile: an assistant starts it by itself. The tools are those of POST /mcp. See docs/assistants.md for the configuration of the assistant.',
  examples: ['agentpay mcp', 'agentpay mcp --profile reader'],
  async run(context) {
    const { serve } = await import('../assistants/serve.ts')
    return serve(context)
  },
}
