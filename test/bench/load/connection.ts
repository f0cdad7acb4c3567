import { connect, type Socket } from 'node:net'

/** A connection that sends one request at a time. If the server closes it while idle, it is opened again. */
export interface LoadConnection {
  ask(request: string, answered: (answer: string) => void): void
  end(): void
}

type Answered = Parameters<LoadConnection['ask']>[1]

/** Reads HTTP by hand, so that the generator uses as little processor time as possible. */
export function openConnection({ hostname, port }: URL): LoadConnection {
  let socket: Socket | undefined
  let answer = ''
  let waiting: Answered | undefined
  const finish = (whole: string) => {
    const answered = waiting
    waiting = undefined
    answered?.(whole)
  }
  const open = (): Socket => {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true })
    opened.setEncoding('latin1').on('data', chunk => {
      answer += chunk
      if (isComplete(answer)) finish(answer)
    })
    opened.on('error', error => finish(`HTTP/1.1 000 ${error.message}\r\n\r\n`))
    return opened.on('close', () => {
      socket = undefined
      finish('HTTP/1.1 000 closed without an answer\r\n\r\n')
    })
  }
  return {
    ask(request, answered) {
      answer = ''
      waiting = answered
      socket ??= open()
      socket.write(request)
    },
    end: () => void socket?.end(),
  }
}

function isComplete(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = answer.slice(0, end)
  if (/^transfer-encoding: chunked/im.test(head)) return answer.endsWith('\r\n0\r\n\r\n')
  return answer.length >= end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
}
