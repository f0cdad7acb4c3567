import { randomUUID } from 'node:crypto'

export async function aProposal(url: string, key: string): Promise<string> {
  const params = {
    name: 'call_operation',
    arguments: { operation: 'policies.create', input: { name: `Proposed ${randomUUID()}` } },
  }
  const answer = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const [, id] = /(proposal_[0-9a-z]{26})/.exec(await answer.text()) ?? []
  if (id === undefined) throw new Error('the assistant has proposed nothing')
  return id
}

export async function aConversation(url: string, key: string): Promise<string> {
  const answer = await fetch(new URL('/canvas/messages', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'help' }),
  })
  const [, id] = /(conversation_[0-9a-z]{26})/.exec(await answer.text()) ?? []
  if (id === undefined) throw new Error('nobody has answered')
  return id
}
