// Plate, cam, dome and holder of the shaker. Every number that decides a toss or a picture comes from
// measures.scad, which `make machine` writes from what the rig's plant tosses with:
//   radius, wall, die, stroke, amplitude, notch, camera, ring_radius, ring_height, lenses.
// Millimetres; the origin is the middle of the floor at the plate's lowest point, z up to the camera.
//   openscad -D 'part="dome"' -o dome.stl machine.scad        sheet=true: a drawing (SVG)

include <measures.scad>

part = "all"; // plate, cam, dome, holder, all
sheet = false;
$fn = 120;

// What no toss depends on.
clearance = 0.4;  // plate to tube, on each side
tube = 3;         // acrylic tube, 100/106 mm for a radius of 50
felt = 2;
plate_thick = 8;
guide = 6.1;      // three guide pins of 6 mm
flange = 14;
flange_thick = 6;
bore = 8;         // cam shaft
cam_thick = 10;
lever_radius = 4; // roller of the lever that rests in the heart cam's notch
rail = 8;
leg = 10;
bolt = 4.3;

module around(count, distance, turn = 0) {
    for (n = [0 : count - 1]) rotate(turn + 360 * n / count) translate([distance, 0, 0]) children();
}

// The floor is felt on the plate: the plate's top lies one felt below the origin.
module plate() {
    difference() {
        translate([0, 0, -felt - plate_thick]) cylinder(r = radius - clearance, h = plate_thick);
        around(3, 0.7 * radius) translate([0, 0, -felt - plate_thick - 1])
            cylinder(d = guide, h = plate_thick - 1); // blind: no hole in the floor
        translate([0, 0, -felt - plate_thick - 1]) cylinder(d = 6.5, h = plate_thick - 1);
    }
}

// An eccentric lifts the plate by twice its amplitude; the heart cam beside it brings it back to its lowest point.
function heart(a) = 14 + 9 * abs(a) / 180 + (abs(a) < notch ? -1.5 * (1 - abs(a) / notch) : 0);
module cam() {
    difference() {
        union() {
            translate([amplitude, 0, 0]) cylinder(r = 16, h = cam_thick);
            translate([0, 0, cam_thick]) linear_extrude(cam_thick)
                polygon([for (a = [-180 : 2 : 178]) heart(a) * [cos(a), sin(a)]]);
        }
        translate([0, 0, -1]) cylinder(d = bore, h = 2 * cam_thick + 2);
        translate([0, 0, cam_thick * 1.5]) rotate([0, 90, 180]) cylinder(d = 3.3, h = 40);
    }
}

// A tube that the plate moves in, closed by a clear lid: nothing gets higher than `wall`.
module dome() {
    below = felt + plate_thick + 4;
    difference() {
        union() {
            translate([0, 0, -below]) cylinder(r = radius + tube, h = below + wall + tube);
            translate([0, 0, -below]) cylinder(r = radius + tube + flange, h = flange_thick);
        }
        translate([0, 0, -below - 1]) cylinder(r = radius, h = below + wall + 1);
        around(6, radius + tube + flange / 2, 30) translate([0, 0, -below - 1]) cylinder(d = bolt, h = 20);
    }
}

// Two half rings for the lamps, each a circuit of its own, three legs, and the bridge with the lenses straight above the middle.
module half_ring() {
    difference() {
        translate([0, 0, ring_height]) cylinder(r = ring_radius + rail, h = 4);
        translate([0, 0, ring_height - 1]) cylinder(r = ring_radius - rail, h = 6);
        translate([-300, -599.5, 0]) cube([600, 600, 400]); // half a millimetre from the middle
    }
}
module holder() {
    foot = -(felt + plate_thick + 4);
    half_ring();
    rotate(180) half_ring();
    for (side = [-1, 1]) translate([side * ring_radius - rail, -10, ring_height - 2]) cube([2 * rail, 20, 2.5]); // joins
    around(3, ring_radius + rail + leg / 2 - 2, 90) translate([0, 0, foot]) {
        translate([-leg / 2, -leg / 2, 0]) cube([leg, leg, camera - foot]);
        difference() {
            translate([-leg, -leg, 0]) cube([2.5 * leg, 2 * leg, 5]);
            translate([leg, 0, -1]) cylinder(d = bolt, h = 7);
        }
    }
    difference() {
        union() {
            translate([0, 0, camera]) cylinder(r = lenses / 2 + 22, h = 6);
            for (n = [0 : 2]) rotate(90 + 120 * n) translate([0, -leg / 2, camera]) cube([ring_radius + rail + leg, leg, 6]);
        }
        for (side = [-1, 1]) translate([side * lenses / 2, 0, camera - 1]) cylinder(d = 18, h = 8);
    }
}

module chosen() {
    if (part == "plate") plate();
    if (part == "cam") cam();
    if (part == "dome") dome();
    if (part == "holder") holder();
    if (part == "all") {
        color("tan") plate();
        color("lightblue", 0.3) dome();
        color("gray") holder();
        color("gold") translate([0, 5, -felt - plate_thick - 16 + amplitude]) rotate([90, 90, 0]) cam();
    }
}

// ── Drawings: from above, and cut through the middle ──

module wire(from, to) { hull() { translate(from) circle(0.15, $fn = 8); translate(to) circle(0.15, $fn = 8); } }
module measure(from, to, label) {
    middle = (from + to) / 2;
    turned = abs(to.x - from.x) < 0.01;
    wire(from, to);
    for (end = [from, to]) wire(end - (turned ? [2, 0] : [0, 2]), end + (turned ? [2, 0] : [0, 2]));
    translate(middle + (turned ? [2, 0] : [0, 2])) rotate(turned ? -90 : 0)
        text(label, size = letter, halign = "center", valign = "bottom", font = "Liberation Sans");
}
module side() { projection(cut = part != "holder") rotate([-90, 0, 0]) chosen(); }

// Widest radius, bottom and top of the part, and what is measured in its section.
function widest() = part == "plate" ? radius : part == "cam" ? 24 : part == "dome" ? radius + tube + flange : ring_radius + 40;
function tallest() = part == "plate" ? 0 : part == "cam" ? 2 * cam_thick : part == "dome" ? wall + tube : camera;
letter = part == "holder" ? 9 : part == "cam" ? 2.5 : 5;
module measures() {
    below = felt + plate_thick + 4;
    if (part == "plate") {
        measure([-radius + clearance, 8], [radius - clearance, 8], str("Ø ", 2 * (radius - clearance)));
        measure([radius + 6, -felt - plate_thick], [radius + 6, -felt], str(plate_thick));
    }
    if (part == "dome") {
        measure([-radius, wall / 2], [radius, wall / 2], str("Ø ", 2 * radius, " inside"));
        measure([radius + tube + flange + 6, 0], [radius + tube + flange + 6, wall], str(wall, " above the floor"));
        measure([-radius - tube, wall + 12], [radius + tube, wall + 12], str("Ø ", 2 * (radius + tube)));
    }
    if (part == "cam") measure([0, 2 * cam_thick + 4], [amplitude, 2 * cam_thick + 4], str("eccentric ", amplitude, ", stroke ", stroke));
    if (part == "holder") {
        measure([-ring_radius, -34], [ring_radius, -34], str("lamps on Ø ", 2 * ring_radius));
        measure([ring_radius + 60, 0], [ring_radius + 60, camera], str("lens ", camera, " above the floor"));
        measure([-ring_radius - 50, 0], [-ring_radius - 50, ring_height], str("lamps ", ring_height));
        measure([-lenses / 2, camera + 16], [lenses / 2, camera + 16], str("lenses ", lenses));
    }
}
module drawn() {
    wide = 2 * widest() + 16 * letter;
    low = part == "holder" ? 40 : part == "cam" ? 0 : felt + plate_thick + 4; // below the origin
    seen = -low - widest() - 6 * letter;
    foot = seen - widest() - 6 * letter;
    side();
    measures();
    translate([0, seen]) projection() chosen();
    translate([0, foot + 2 * letter])
        text(str(part, part == "holder" ? ": from the side" : ": cut", " and from above, mm"), size = letter,
             halign = "center", font = "Liberation Sans");
    translate([-wide / 2, foot]) difference() {
        square([wide, tallest() - foot + 6 * letter]);
        translate([0.3, 0.3]) square([wide - 0.6, tallest() - foot + 6 * letter - 0.6]);
    }
}

if (sheet) drawn(); else chosen();
