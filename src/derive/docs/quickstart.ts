import { readFileSync } from 'node:fs'

const TEXT = readFileSync(new URL('./quickstart.md', import.meta.url), 'utf8')

export const quickstartText = (url: string): string => TEXT.replaceAll('{{url}}', url)

interface Step {
  readonly curl: string
  readonly typescript: string
  readonly python: string
}

export const quickstartSteps = (url: string): Step[] =>
  quickstartText(url)
    .split(/^### /m)
    .slice(1)
    .map(step => ({
      curl: codeIn(step, 'bash curl'),
      typescript: codeIn(step, 'ts'),
      python: codeIn(step, 'python'),
    }))

const codeIn = (step: string, language: string): string =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(step)?.[1] ?? ''
