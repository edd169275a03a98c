// The window on the map: where it is, how near, and how it moves.
export interface View {
  x: number; // of the map, at the left upper corner of the window
  y: number;
  scale: number;
}

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const kSmallest = 0.04;
const kLargest = 3;
const kMargin = 60; // pixels around a map that is shown whole

export class Viewport {
  view: View = {x: 0, y: 0, scale: 1};
  private frame = 0;

  constructor(
    private readonly canvas: SVGSVGElement,
    private readonly draw: (view: View, width: number, height: number) => void,
  ) {}

  // At most once a frame, however often it is asked for.
  redraw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const {width, height} = this.size();
      this.draw(this.view, width, height);
      this.canvas.dataset.scale = this.view.scale.toFixed(3);
    });
  }

  move(x: number, y: number): void {
    this.view = {...this.view, x, y};
    this.redraw();
  }

  // Around a point of the window, else around its middle.
  zoom(factor: number, x = this.size().width / 2, y = this.size().height / 2): void {
    const {view} = this;
    const scale = Math.min(kLargest, Math.max(kSmallest, view.scale * factor));
    this.view = {
      x: view.x + x / view.scale - x / scale,
      y: view.y + y / view.scale - y / scale,
      scale,
    };
    this.redraw();
  }

  fit(area: Area): void {
    const {width, height} = this.size();
    const across = (width - kMargin) / (area.width || 1);
    const down = (height - kMargin) / (area.height || 1);
    this.center(area, Math.max(kSmallest, Math.min(1.15, across, down)));
  }

  center(area: Area, scale: number): void {
    const {width, height} = this.size();
    this.view = {
      scale,
      x: area.x + area.width / 2 - width / 2 / scale,
      y: area.y + area.height / 2 - height / 2 / scale,
    };
    this.redraw();
  }

  private size(): {width: number; height: number} {
    return {width: this.canvas.clientWidth || 800, height: this.canvas.clientHeight || 600};
  }
}
