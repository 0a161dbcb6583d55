/** A text without what is another each time: numbers, times and durations are `#`, keys and directories are left out. */
export function inGeneral(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f-]{16,}\b|\/\S+\/(?=subscribers\.csv)/g, '')
    .replaceAll(/\d+(?:[-.,:]\d+)*/g, '#')
    .replaceAll(/# (?:ms|s|min|h|d)\b(?: # (?:ms|s|min|h|d)\b)*/g, '# t')
}
