import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Every page that people read, as a path from the root. */
export const PAGES: readonly string[] = [
  ...globSync('*.md', { cwd: ROOT }),
  ...globSync('docs/**/*.md', { cwd: ROOT }),
].sort()

export function pathOf(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

export function readPage(path: string): string {
  return readFileSync(pathOf(path), 'utf8')
}

/** The fenced blocks of one language, in their order. */
export function blocksOf(markdown: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm')
  return [...markdown.matchAll(fence)].map(([, block = '']) => block)
}

/** What is written between single backticks outside fenced blocks. */
export function inlineCodeOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/`([^`\n]+(?:\n[^`\n]+)?)`/g)].map(([, code = '']) => code.replaceAll('\n', ' '))
}

/** The text under a heading, up to the next one of its level. */
export function sectionOf(markdown: string, heading: string): string {
  const [, text = ''] = markdown.split(`## ${heading}\n`)
  return text.split(/^## /m)[0] ?? ''
}

/** The commands of the shell blocks of a page, one each: without comments, with continued lines joined. */
export function shellCommandsOf(markdown: string): string[] {
  return blocksOf(markdown, 'sh')
    .flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
    .map(line => line.replace(/(^|\s)#.*$/, '').trim())
    .filter(line => line !== '')
}
