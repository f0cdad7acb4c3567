import { didYouMeanText } from '../../values/nearest.ts'
import { escapeLine } from '../../values/terminal-text.ts'
import type { CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'

export const completionCommand: CustomCommand = {
  name: 'completion',
  summary: 'Print the completion script for your shell',
  description: 'The script asks this command for completions, so it never gets out of date.',
  arguments: { '<shell>': 'bash, zsh or fish.' },
  examples: [
    'source <(agentpay completion bash)',
    'source <(agentpay completion zsh)',
    'agentpay completion fish | source',
  ],
  async run({ io, arguments: [shell = ''] }) {
    const { completionScripts: scripts } = await import('../completion/scripts.ts')
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined)
      throw usageError(
        `Completion exists for bash, zsh and fish, not for ${shell}.${didYouMeanText(shell, Object.keys(scripts))}`,
      )
    io.stdout.write(script)
    return exitCodes.done
  },
}

export const completeCommand: CustomCommand = {
  name: 'complete',
  isHidden: true,
  summary: 'Print the possible next words',
  description: 'Called by the scripts of `agentpay completion`.',
  arguments: {
    '[words...]': 'The typed words without the program; the last one is completed.',
  },
  options: {
    about: { type: 'boolean', description: 'Print a description of each word, after a tab.' },
    pieces: {
      type: 'boolean',
      description: 'The words are split at colons and equals signs, as bash does.',
    },
  },
  async run({ io, table, customCommands, options, arguments: typed }) {
    const {
      completeCommandLine: complete,
      joinShellWords: joinPieces,
      lastShellWordPart: lastPiece,
    } = await import('../completion/complete.ts')
    const { completeFileNames: filesIn } = await import('../completion/files.ts')
    const words = options.pieces ? joinPieces(typed) : typed
    for (const { word, about } of complete(words, { table, customCommands, filesFrom: filesIn(io.cwd) })) {
      const shown = options.pieces ? lastPiece(word, words.at(-1) ?? '') : word
      io.stdout.write(`${shown}${options.about ? `\t${escapeLine(about)}` : ''}\n`)
    }
    return exitCodes.done
  },
}
