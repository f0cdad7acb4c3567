import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  readonly raw: Buffer
  readonly parsed: ParsedMail
  readonly to: readonly string[]
  readonly from: string
}

export interface MailServer {
  readonly url: string
  readonly messages: ReceivedMail[]
  /** Answers the next messages of this recipient with a status, such as 451 or 550; 250 takes them again. */
  answerWith(recipient: string, status: number): void
}

/** A real SMTP server on the loopback that keeps what it receives, as `mailparser` reads it. */
export async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const messages: ReceivedMail[] = []
  const statuses = new Map<string, number>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    ...options,
    onRcptTo({ address }, _session, done) {
      const status = statuses.get(address) ?? 250
      done(status === 250 ? undefined : Object.assign(new Error('refused'), { responseCode: status }))
    },
    async onData(stream, { envelope }, done) {
      const raw = Buffer.concat(await stream.toArray())
      messages.push({
        raw,
        parsed: await simpleParser(raw),
        to: envelope.rcptTo.map(({ address }) => address),
        from: envelope.mailFrom ? envelope.mailFrom.address : '',
      })
      done()
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  afterAll(() => new Promise<void>(resolve => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    messages,
    answerWith: (recipient, status) => void statuses.set(recipient, status),
  }
}
